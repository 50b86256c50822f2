//! Seeded mutations: what `cargo test` has in place of a fuzzer. `MUTATION_ROUNDS` and
//! `MUTATION_SEED` make it longer, and another one.

const INPUT_BYTES_MAX: usize = 2_000;

/// Runs the check on seeds that were changed a little, and then a little more.
pub fn mutate(
    (seed, rounds): (u64, u64),
    seeds: &[impl AsRef<[u8]>],
    words: &[&str],
    mut check: impl FnMut(&[u8]),
) {
    let asked = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let rounds = asked("MUTATION_ROUNDS").unwrap_or(rounds);
    let mut random = Random(seed ^ asked("MUTATION_SEED").unwrap_or(0) << 8);
    let mut input = Vec::new();
    for round in 0..rounds {
        if round % 16 == 0 {
            input = seeds[random.below(seeds.len())].as_ref().to_vec();
        }
        let at = random.below(input.len() + 1);
        match random.below(5) {
            0 => drop(input.splice(at..at, words[random.below(words.len())].bytes())),
            1 => drop(input.drain(at..(at + random.below(9)).min(input.len()))),
            2 if at < input.len() => input[at] ^= 1 << random.below(8),
            3 => {
                let other = seeds[random.below(seeds.len())].as_ref();
                let start = random.below(other.len());
                let end = (start + random.below(40)).min(other.len());
                drop(input.splice(at..at, other[start..end].iter().copied()));
            }
            _ => input.insert(at, random.below(256) as u8),
        }
        input.truncate(INPUT_BYTES_MAX);
        check(&input);
    }
}

/// A small generator of our own (a counter, mixed), so that a seed means the same for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}
