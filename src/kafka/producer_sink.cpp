#include "walpost/kafka/producer_sink.h"
