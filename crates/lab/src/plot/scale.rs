//! From numbers to positions: linear and logarithmic axes, and ticks at round numbers.

/// How an axis stretches its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Numbers of zero or less have no place on it and are left out.
    Log,
}

/// More ticks than this nobody reads.
const TICKS_MAX: usize = 8;

/// An axis with its ends: `place` is 0 at the low one and 1 at the high one.
#[derive(Clone, Copy, Debug)]
pub struct AxisSpan {
    scale: Scale,
    low: f64,
    high: f64,
}

impl AxisSpan {
    /// The least span with all the numbers in it; never empty, whatever they are.
    pub fn of(scale: Scale, numbers: impl Iterator<Item = f64>) -> AxisSpan {
        let fits = |x: &f64| x.is_finite() && (scale == Scale::Linear || *x > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers.filter(fits) {
            low = low.min(number);
            high = high.max(number);
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        AxisSpan::between(scale, low, high)
    }

    pub fn between(scale: Scale, low: f64, high: f64) -> AxisSpan {
        let low = if scale == Scale::Log { low.max(f64::MIN_POSITIVE) } else { low };
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        AxisSpan { scale, low, high }
    }

    /// Where a number lies, or nothing if it lies outside.
    pub fn place(&self, number: f64) -> Option<f64> {
        let inside = number >= self.low && number <= self.high;
        inside.then(|| match self.scale {
            Scale::Linear => (number - self.low) / (self.high - self.low),
            Scale::Log => (number / self.low).ln() / (self.high / self.low).ln(),
        })
    }

    pub fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => self.linear_ticks(),
            Scale::Log => self.log_ticks(),
        }
    }

    /// Steps of 1, 2 or 5 times a power of ten: the finest that stays readable.
    fn linear_ticks(&self) -> Vec<f64> {
        let width = self.high - self.low;
        let decade = 10f64.powf((width / TICKS_MAX as f64).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|times| times * decade);
        let step = steps.into_iter().find(|step| width / step <= TICKS_MAX as f64);
        let step = step.unwrap_or(width);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }

    /// Powers of ten, or 1, 2 and 5 times them when there are few.
    fn log_ticks(&self) -> Vec<f64> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let stride = ((last - first) as usize / TICKS_MAX + 1).max(1);
        let times: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let decades = (first..=last).step_by(stride).map(|n| 10f64.powi(n));
        let ticks = decades.flat_map(|decade| times.iter().map(move |times| times * decade));
        ticks.filter(|tick| self.place(*tick).is_some()).collect()
    }
}

/// A number as a reader wants it beside a tick: `0.95`, `2,000`, `1e-7`.
pub fn label(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e9).contains(&size) {
        return format!("{number:e}");
    }
    if size >= 1000.0 && number.fract() == 0.0 {
        let digits = format!("{size:.0}");
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        return if number < 0.0 { format!("-{grouped}") } else { grouped };
    }
    // Nine decimals hide what binary fractions add to a step of ten.
    let text = format!("{number:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside_whatever_the_numbers() {
        let ticks = |scale, numbers: &[f64]| {
            let span = AxisSpan::of(scale, numbers.iter().copied());
            let ticks = span.ticks();
            assert!(ticks.iter().all(|tick| span.place(*tick).is_some()), "{numbers:?}: {ticks:?}");
            ticks.into_iter().map(label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ticks(Scale::Linear, &[0.0, 1.0]), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(
            ticks(Scale::Linear, &[-3.0, 12_000.0]),
            "0 2,000 4,000 6,000 8,000 10,000 12,000"
        );
        assert_eq!(ticks(Scale::Log, &[1.0, 325_557.0]), "1 10 100 1,000 10,000 100,000");
        assert_eq!(ticks(Scale::Log, &[0.0, 30.0, 700.0]), "50 100 200 500");
        assert_eq!(ticks(Scale::Linear, &[f64::NAN, f64::INFINITY]), "2 4 6 8 10");
        assert_eq!(ticks(Scale::Linear, &[5.0]), "5 6 7 8 9 10");
    }
}
