"""Primes below a million with a sieve: pure computation."""

LIMIT = 1_000_000

sieve = bytearray([1]) * LIMIT
sieve[0] = sieve[1] = 0
for number in range(2, int(LIMIT**0.5) + 1):
    if sieve[number]:
        sieve[number * number :: number] = bytes(len(range(number * number, LIMIT, number)))
print(sum(sieve))
