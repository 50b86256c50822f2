//! What people see of an experiment: line charts as SVG files.
//!
//! Written by hand rather than with a drawing library: a chart is one polyline per row of a table,
//! two axes and a legend, and a style sheet inside the file lets it follow the reader's light or
//! dark background. [`scale`] turns numbers into positions and round ticks; [`line_chart`] draws.

mod line_chart;
mod scale;

pub use line_chart::{Axis, LineChart, PlotLine, Stroke};
pub use scale::Scale;
