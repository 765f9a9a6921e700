#include "walpost/postgres/replication_source.h"
