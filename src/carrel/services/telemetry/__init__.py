"""What measurements need of the outside: a sender to collectors, memory that workers share."""
