#include "pgoutput/framing.h"
