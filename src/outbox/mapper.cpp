#include "walpost/outbox/mapper.h"
