#include "pgoutput/lsn.h"
