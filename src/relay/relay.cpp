#include "walpost/relay/relay.h"
