const numbers = Array.from({ length: 100000 }, (_, i) => (i * 7919 + 104729) % 1000003);
numbers.sort((a, b) => a - b);
numbers[500];
