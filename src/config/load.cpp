#include "walpost/config/config.h"
