//! Sorted numbers as bytes: how many, how many more have no number, the first, then the gaps less
//! one, each as LEB128. Links go to numbers given at about the same time, so most gaps are a byte.

/// Appends the coding of `ids`, which are sorted and distinct.
pub fn encode(ids: &[u32], unnamed: u32, bytes: &mut Vec<u8>) {
    put(ids.len() as u32, bytes);
    put(unnamed, bytes);
    let mut next = 0;
    for &id in ids {
        debug_assert!(id >= next, "sorted and distinct");
        put(id - next, bytes);
        next = id + 1;
    }
}

/// Reads one list from the start of `bytes` into `ids`: the links without a number, and the bytes
/// read. None if these bytes are no list.
pub fn decode(bytes: &[u8], ids: &mut Vec<u32>) -> Option<(u32, usize)> {
    ids.clear();
    let mut at = 0;
    let count = take(bytes, &mut at)?;
    let unnamed = take(bytes, &mut at)?;
    // A number takes a byte at least, whatever the count says.
    ids.reserve((count as usize).min(bytes.len()));
    let mut next = 0u32;
    for _ in 0..count {
        let id = next.checked_add(take(bytes, &mut at)?)?;
        ids.push(id);
        next = id.checked_add(1)?;
    }
    Some((unnamed, at))
}

fn put(mut value: u32, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[inline]
fn take(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u32::from(first));
    }
    let mut value = u32::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_is_read_back_is_what_was_written_and_garbage_is_refused() {
        let mut rng = Rng::new(1);
        let mut back = Vec::new();
        for round in 0..200 {
            let spread = 1u64 << (round % 32);
            let mut ids: Vec<u32> =
                (0..rng.draw() % 50).map(|_| (rng.draw() % (10 * spread)) as u32).collect();
            ids.sort_unstable();
            ids.dedup();
            let ids: Vec<u32> = ids.into_iter().filter(|&id| id < u32::MAX).collect();
            let mut bytes = Vec::new();
            encode(&ids, round, &mut bytes);
            let whole = bytes.len();
            bytes.extend_from_slice(b"more");
            assert_eq!(decode(&bytes, &mut back), Some((round, whole)));
            assert_eq!(back, ids);
            for cut in 0..whole {
                assert_eq!(decode(&bytes[..cut], &mut back), None, "cut at {cut}");
            }
        }
        assert_eq!(decode(&[0xff; 9], &mut back), None);
        assert_eq!(decode(&[2, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0], &mut back), None);
    }
}
