#include "pgoutput/decode.h"
