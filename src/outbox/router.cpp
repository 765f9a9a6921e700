#include "walpost/outbox/router.h"
