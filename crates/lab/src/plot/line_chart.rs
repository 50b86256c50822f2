//! A line chart as one self-contained SVG: title, axes with ticks, lines, legend at the right.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use rhumb_disk::{Durable, replace_with};

use super::scale::{AxisSpan, Scale, label};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 60.0;
/// Points closer than this on paper are one: the file stays small, the line looks the same.
const POINT_APART_MIN: f64 = 0.4;

/// Colours that colour-blind readers can tell apart (Okabe and Ito 2008), then repeated.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a00", "#7a7a7a"];

const STYLE: &str = "\
svg{font:13px system-ui,sans-serif;background:#fff;color:#222}\
text{fill:currentColor}.title{font-size:17px;font-weight:600}\
.grid{stroke:currentColor;stroke-opacity:.13}.axis{stroke:currentColor;stroke-opacity:.6}\
polyline{fill:none;stroke-width:2;stroke-linejoin:round}\
@media(prefers-color-scheme:dark){svg{background:#16181c;color:#ddd}}";

#[derive(Clone, Debug)]
pub struct Axis {
    pub label: String,
    pub scale: Scale,
    /// The ends; as wide as the lines if not given.
    pub range: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    Solid,
    Dashed,
}

#[derive(Clone, Debug)]
pub struct PlotLine {
    pub name: String,
    /// Lines of the same number have the same colour.
    pub colour: usize,
    pub stroke: Stroke,
    /// In order of drawing; points outside of the axes interrupt the line.
    pub points: Vec<(f64, f64)>,
}

#[derive(Clone, Debug)]
pub struct LineChart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<PlotLine>,
}

impl Axis {
    pub fn new(label: &str, scale: Scale) -> Axis {
        Axis { label: label.to_owned(), scale, range: None }
    }

    pub fn between(self, low: f64, high: f64) -> Axis {
        Axis { range: Some((low, high)), ..self }
    }

    fn span(&self, numbers: impl Iterator<Item = f64>) -> AxisSpan {
        match self.range {
            Some((low, high)) => AxisSpan::between(self.scale, low, high),
            None => AxisSpan::of(self.scale, numbers),
        }
    }
}

impl LineChart {
    /// Writes under a temporary name and renames when whole.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        replace_with(path, Durable::No, self.svg().as_bytes())
    }

    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x = self.x.span(points().map(|point| point.0));
        let y = self.y.span(points().map(|point| point.1));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n<text class=\"title\" x=\"{LEFT}\" y=\"28\">{title}</text>\n",
            title = escaped(&self.title)
        );
        self.draw_axes(&mut svg, x, y);
        for (row, line) in self.lines.iter().enumerate() {
            draw_line(&mut svg, line, x, y);
            draw_legend(&mut svg, line, row);
        }
        svg + "</svg>\n"
    }

    fn draw_axes(&self, svg: &mut String, x: AxisSpan, y: AxisSpan) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (tick, at) in x.ticks().into_iter().filter_map(|t| Some((t, x_of(x, t)?))) {
            put(svg, format_args!("<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>"));
            let text = label(tick);
            let below = bottom + 20.0;
            put(
                svg,
                format_args!(
                    "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{text}</text>"
                ),
            );
        }
        for (tick, at) in y.ticks().into_iter().filter_map(|t| Some((t, y_of(y, t)?))) {
            put(svg, format_args!("<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>"));
            let (text, before, middle) = (label(tick), LEFT - 8.0, at + 4.5);
            put(
                svg,
                format_args!(
                    "<text x=\"{before}\" y=\"{middle:.1}\" text-anchor=\"end\">{text}</text>"
                ),
            );
        }
        put(
            svg,
            format_args!(
                "<path class=\"axis\" fill=\"none\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>"
            ),
        );
        let (centre, below) = ((LEFT + right) / 2.0, HEIGHT - 16.0);
        let name = escaped(&self.x.label);
        put(
            svg,
            format_args!("<text x=\"{centre}\" y=\"{below}\" text-anchor=\"middle\">{name}</text>"),
        );
        let (middle, name) = ((TOP + bottom) / 2.0, escaped(&self.y.label));
        put(
            svg,
            format_args!(
                "<text transform=\"translate(20 {middle}) rotate(-90)\" \
                 text-anchor=\"middle\">{name}</text>"
            ),
        );
    }
}

fn draw_line(svg: &mut String, line: &PlotLine, x: AxisSpan, y: AxisSpan) {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for &(px, py) in &line.points {
        let at = x_of(x, px).zip(y_of(y, py));
        let Some(at) = at else {
            pieces.push(Vec::new());
            continue;
        };
        let piece = pieces.last_mut().expect("there is always one");
        let apart = piece.last().is_none_or(|last: &(f64, f64)| {
            (last.0 - at.0).abs() + (last.1 - at.1).abs() >= POINT_APART_MIN
        });
        if apart {
            piece.push(at);
        }
    }
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        let mut points = String::new();
        for (x, y) in piece {
            let _ = write!(points, "{x:.1},{y:.1} ");
        }
        let (points, pen) = (points.trim_end(), pen(line));
        put(svg, format_args!("<polyline {pen} points=\"{points}\"/>"));
    }
}

fn draw_legend(svg: &mut String, line: &PlotLine, row: usize) {
    let (left, y) = (WIDTH - RIGHT + 16.0, TOP + 10.0 + 22.0 * row as f64);
    let (right, text, base) = (left + 28.0, left + 36.0, y + 4.5);
    let (pen, name) = (pen(line), escaped(&line.name));
    put(svg, format_args!("<path {pen} stroke-width=\"2\" d=\"M{left} {y}H{right}\"/>"));
    put(svg, format_args!("<text x=\"{text}\" y=\"{base}\">{name}</text>"));
}

fn pen(line: &PlotLine) -> String {
    let colour = COLOURS[line.colour % COLOURS.len()];
    let dashes = if line.stroke == Stroke::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    format!("stroke=\"{colour}\"{dashes}")
}

fn x_of(span: AxisSpan, x: f64) -> Option<f64> {
    span.place(x).map(|place| LEFT + place * (WIDTH - RIGHT - LEFT))
}

fn y_of(span: AxisSpan, y: f64) -> Option<f64> {
    span.place(y).map(|place| HEIGHT - BOTTOM - place * (HEIGHT - BOTTOM - TOP))
}

fn put(svg: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "{element}");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_names_its_lines_and_breaks_them_where_they_leave_the_axes() {
        let line = |name: &str, points: &[(f64, f64)]| PlotLine {
            name: name.to_owned(),
            colour: 0,
            stroke: Stroke::Dashed,
            points: points.to_vec(),
        };
        let chart = LineChart {
            title: "a < b".to_owned(),
            x: Axis::new("downloads", Scale::Log),
            y: Axis::new("mass", Scale::Linear).between(0.0, 1.0),
            lines: vec![
                line("one", &[(1.0, 0.0), (10.0, 0.5), (100.0, 1.0)]),
                line("two", &[(1.0, 0.1), (2.0, f64::NAN), (3.0, 0.2), (4.0, 0.3)]),
                line("none", &[]),
            ],
        };
        let svg = chart.svg();
        assert!(svg.contains(">a &lt; b</text>") && svg.contains(">none</text>"));
        assert_eq!(svg.matches("<polyline").count(), 3, "{svg}");
        assert!(svg.contains("points=\"76.0,480.0 413.0,266.0 750.0,52.0\""), "{svg}");
        assert!(!svg.contains("NaN"));
    }
}
