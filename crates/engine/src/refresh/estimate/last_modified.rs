//! When the server says when the page last changed.
//!
//! Cho and Garcia-Molina, "Estimating frequency of change", ACM TOIT 3(3), 2003, section 5: the
//! time T counts from the last change to the visit where there was one, and the whole interval
//! where there was none; X′ = (X − 1) − X/(n ln(1 − X/n)) takes the bias out.

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LastModified {
    visits: u64,
    changed: u64,
    days: f64,
}

impl LastModified {
    /// A visit `interval` days after the one before; `ago` is the age in days of the last change,
    /// if it came since then.
    pub fn visited(&mut self, interval: f64, ago: Option<f64>) {
        self.visits += 1;
        self.changed += u64::from(ago.is_some());
        self.days += ago.map_or(interval, |ago| ago.clamp(0.0, interval));
    }

    /// Changes a day.
    pub fn rate(&self) -> f64 {
        let (n, x) = (self.visits as f64, self.changed as f64);
        if self.changed == 0 || self.days <= 0.0 {
            return 0.0;
        }
        // Where every visit found a change the logarithm is infinite and its term vanishes.
        let bias = if self.changed == self.visits { 0.0 } else { -x / (n * (-x / n).ln_1p()) };
        ((x - 1.0) + bias) / self.days
    }
}
