//! The code of a list of links: LEB128 numbers (seven bits a byte, least first, the eighth bit
//! says that more follow).
//!
//! A list is its length, then the first target as a signed distance from the page itself (pages
//! link to neighbours), then for each further target how many pages were jumped over. Targets
//! ascend strictly, so a list cannot hold a repeated link.

/// Bytes of the longest number that we write: 64 bits by seven.
pub const NUMBER_BYTES_MAX: usize = 10;

pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub fn put_list(out: &mut Vec<u8>, page: u32, targets: &[u32]) {
    put(out, targets.len() as u64);
    let Some((&first, rest)) = targets.split_first() else { return };
    put(out, folded(i64::from(first) - i64::from(page)));
    let mut last = first;
    for &target in rest {
        assert!(target > last, "targets ascend");
        put(out, u64::from(target - last - 1));
        last = target;
    }
}

/// A number and how many bytes it took; none if the bytes end or it has more than 64 bits.
pub fn take(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0u64;
    for (at, &byte) in bytes.iter().take(NUMBER_BYTES_MAX).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if at == NUMBER_BYTES_MAX - 1 && bits > 1 {
            return None;
        }
        number |= bits << (7 * at);
        if byte < 0x80 {
            return Some((number, at + 1));
        }
    }
    None
}

/// Checks a list of one page in a graph of so many; answers its links and its bytes.
pub fn check_list(bytes: &[u8], page: u32, pages: u32) -> Option<(u64, usize)> {
    let (length, mut at) = take(bytes)?;
    if length > u64::from(pages) {
        return None;
    }
    let mut next = 0u64;
    for nth in 0..length {
        let (number, used) = take(bytes.get(at..)?)?;
        at += used;
        let target = match nth {
            0 => u64::try_from(unfolded(number).checked_add(i64::from(page))?).ok()?,
            _ => next.checked_add(number)?,
        };
        if target >= u64::from(pages) {
            return None;
        }
        next = target + 1;
    }
    Some((length, at))
}

/// Signed numbers as unsigned ones, small sizes first: 0, -1, 1, -2, …
pub fn folded(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

pub fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_overlong_ones_are_refused() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(take(&bytes), Some((number, bytes.len())));
            assert_eq!(take(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(take(&[0xff; 11]), None);
        assert_eq!(take(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]), None);
        for number in [0, 1, -1, i64::from(i32::MIN), i64::from(u32::MAX)] {
            assert_eq!(unfolded(folded(number)), number);
        }
    }

    #[test]
    fn a_list_that_leaves_the_graph_is_refused() {
        let mut bytes = Vec::new();
        put_list(&mut bytes, 5, &[2, 3, 9]);
        assert_eq!(check_list(&bytes, 5, 10), Some((3, bytes.len())));
        assert_eq!(check_list(&bytes, 5, 9), None);
        assert_eq!(check_list(&bytes, 1, 10), None, "2 - 5 + 1 is no page");
        assert_eq!(check_list(&bytes[..2], 5, 10), None);
    }
}
