//! How far figures scatter: their mean, its confidence, the worst.

use rhumb_engine::rng::Rng;

/// Resamples of the bootstrap.
const RESAMPLES: usize = 2_000;
const SEED: u64 = 26;

/// Of some figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FigureSpread {
    pub count: usize,
    pub mean: f64,
    /// Between these the mean is with 95 % confidence, if the figures are a fair sample: the
    /// percentile bootstrap (Efron, "Bootstrap methods", Annals of Statistics 7, 1979).
    pub low: f64,
    pub high: f64,
    pub worst: f64,
    /// With 95 % confidence at least this share of all further figures is no worse than the worst,
    /// if these are a fair sample of them: 0.05^(1/n), whatever their distribution (Wilks,
    /// "Determination of sample sizes for setting tolerance limits", Ann. Math. Stat. 12, 1941).
    pub no_worse: f64,
}

impl FigureSpread {
    pub fn of(figures: &[f64]) -> FigureSpread {
        if figures.is_empty() {
            return FigureSpread::default();
        }
        let count = figures.len();
        let mean = |sum: f64| sum / count as f64;
        let mut rng = Rng::new(SEED);
        let mut means: Vec<f64> = (0..RESAMPLES)
            .map(|_| mean((0..count).map(|_| figures[(rng.draw() % count as u64) as usize]).sum()))
            .collect();
        means.sort_by(f64::total_cmp);
        FigureSpread {
            count,
            mean: mean(figures.iter().sum()),
            low: means[RESAMPLES / 40],
            high: means[RESAMPLES - 1 - RESAMPLES / 40],
            worst: figures.iter().copied().fold(f64::INFINITY, f64::min),
            no_worse: 0.05f64.powf(1.0 / count as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_many_figures_is_known_to_two_errors_and_of_equal_ones_exactly() {
        let figures: Vec<f64> = (0..100).map(|n| f64::from(n % 10)).collect();
        let spread = FigureSpread::of(&figures);
        // Deviation 2.87, so 0.287 of the mean.
        assert!((spread.mean - 4.5).abs() < 1e-12 && spread.worst == 0.0, "{spread:?}");
        assert!((spread.high - spread.low - 4.0 * 0.287).abs() < 0.1, "{spread:?}");
        // The usual table: 59 for 95 % with 95 % confidence.
        assert!((FigureSpread::of(&figures[..59]).no_worse - 0.95).abs() < 1e-3);
        let same = FigureSpread::of(&[0.25; 7]);
        assert_eq!((same.low, same.mean, same.high), (0.25, 0.25, 0.25));
    }
}
