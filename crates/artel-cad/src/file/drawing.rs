//! A drawing: three views and one from a corner, hidden lines dashed, with the main dimensions.

use std::fmt::Write as _;

use crate::geometry::{BoundingBox, Vec3};
use crate::kernel::{Projection, ViewDirection};

const WIDTH: f64 = 1189.0;
const HEIGHT: f64 = 841.0;
const MARGIN: f64 = 20.0;
/// The strip at the bottom that names the drawing.
const TITLE: f64 = 40.0;
/// How far a dimension stands away from its view.
const AWAY: f64 = 26.0;

/// The directions of the four views, in the order that [`draw`] takes their projections.
pub const DRAWING_VIEWS: [ViewDirection; 4] = [
    ViewDirection { from: Vec3::new(0.0, -1.0, 0.0), right: Vec3::X },
    ViewDirection { from: Vec3::Z, right: Vec3::X },
    ViewDirection { from: Vec3::X, right: Vec3::Y },
    ViewDirection { from: Vec3::new(1.0, -1.0, 1.0), right: Vec3::new(1.0, 1.0, 0.0) },
];

/// One view: its name, cell, and which dimensions it shows.
struct Cell<'a> {
    name: &'static str,
    projection: &'a Projection,
    left: f64,
    top: f64,
    across: Option<f64>,
    upright: Option<f64>,
}

/// Draws the projections of the four views as an SVG.
pub fn draw(title: &str, projections: &[Projection; 4], around: &BoundingBox) -> String {
    let (cell_width, cell_height) = (WIDTH / 2.0, (HEIGHT - TITLE) / 2.0);
    let size = around.size();
    let room = [cell_width - 2.0 * (MARGIN + AWAY), cell_height - 2.0 * (MARGIN + AWAY)];
    // The three views have one scale, so that they can be compared.
    let widest = size.x.max(size.y).max(1e-6);
    let highest = size.z.max(size.y).max(1e-6);
    let scale = (room[0] / widest).min(room[1] / highest);
    let [front, top, side, corner] = projections;
    let cell = |name, projection, column: f64, row: f64, across, upright| Cell {
        name,
        projection,
        left: column * cell_width,
        top: row * cell_height,
        across,
        upright,
    };
    let cells = [
        (cell("top", top, 0.0, 0.0, None, Some(size.y)), scale),
        (cell("from a corner", corner, 1.0, 0.0, None, None), fitting(corner, room)),
        (cell("front", front, 0.0, 1.0, Some(size.x), Some(size.z)), scale),
        (cell("right", side, 1.0, 1.0, Some(size.y), None), scale),
    ];
    let mut svg = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <style>.v{{fill:none;stroke:#111;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}}\
         .h{{fill:none;stroke:#777;stroke-width:0.8;stroke-dasharray:5 3}}.d{{fill:none;stroke:#1a5fb4;stroke-width:0.8}}\
         .t{{fill:#1a5fb4;text-anchor:middle}}.n{{fill:#555}}</style>"
    );
    for (cell, scale) in &cells {
        draw_cell(&mut svg, cell, *scale, [cell_width, cell_height]);
    }
    let line = HEIGHT - TITLE;
    let _ = writeln!(
        svg,
        "<path class=\"h\" style=\"stroke-dasharray:none\" d=\"M0 {line}H{WIDTH}\"/>\n<text x=\"{MARGIN}\" y=\"{:.1}\" \
         font-size=\"18\">{}</text>\n<text class=\"n\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{} × {} × {} mm, scale {}, \
         millimetres</text>\n</svg>",
        HEIGHT - 14.0,
        escaped(title),
        WIDTH - MARGIN,
        HEIGHT - 14.0,
        number(size.x),
        number(size.y),
        number(size.z),
        number(scale)
    );
    svg
}

/// Returns the scale that lets a projection fill its cell.
fn fitting(projection: &Projection, room: [f64; 2]) -> f64 {
    let [min, max] = bounds(projection);
    let size = [(max[0] - min[0]).max(1e-6), (max[1] - min[1]).max(1e-6)];
    (room[0] / size[0]).min(room[1] / size[1])
}

fn bounds(projection: &Projection) -> [[f64; 2]; 2] {
    let points = projection.visible.iter().chain(&projection.hidden).flatten();
    points.fold([[f64::MAX; 2], [f64::MIN; 2]], |[min, max], [u, v]| {
        [[min[0].min(*u), min[1].min(*v)], [max[0].max(*u), max[1].max(*v)]]
    })
}

fn draw_cell(svg: &mut String, cell: &Cell<'_>, scale: f64, [width, height]: [f64; 2]) {
    let [min, max] = bounds(cell.projection);
    let middle = [(min[0] + max[0]) / 2.0, (min[1] + max[1]) / 2.0];
    let (x, y) = (cell.left + width / 2.0, cell.top + height / 2.0);
    let place = |[u, v]: [f64; 2]| [x + (u - middle[0]) * scale, y - (v - middle[1]) * scale];
    let _ = writeln!(
        svg,
        "<text class=\"n\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        cell.left + MARGIN,
        cell.top + MARGIN,
        cell.name
    );
    for (class, lines) in [("h", &cell.projection.hidden), ("v", &cell.projection.visible)] {
        let mut path = String::new();
        for line in lines {
            for (index, point) in line.iter().enumerate() {
                let [px, py] = place(*point);
                let _ = write!(path, "{}{px:.2} {py:.2}", if index == 0 { 'M' } else { 'L' });
            }
        }
        if !path.is_empty() {
            let _ = writeln!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }
    let ([left, bottom], [right, top]) = (place(min), place(max));
    if let Some(length) = cell.across {
        let level = bottom + AWAY;
        dimension(svg, [left, level], [right, level], &number(length), [[left, bottom], [right, bottom]]);
    }
    if let Some(length) = cell.upright {
        let upright = left - AWAY;
        dimension(svg, [upright, bottom], [upright, top], &number(length), [[left, bottom], [left, top]]);
    }
}

/// Draws a line with arrows at both ends, its length beside it, and lines to what it measures.
fn dimension(svg: &mut String, a: [f64; 2], b: [f64; 2], text: &str, from: [[f64; 2]; 2]) {
    let length = (b[0] - a[0]).hypot(b[1] - a[1]).max(1e-9);
    let along = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    let across = [-along[1], along[0]];
    let arrow = |tip: [f64; 2], turn: f64| {
        let back = [tip[0] + along[0] * 9.0 * turn, tip[1] + along[1] * 9.0 * turn];
        format!(
            "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}",
            back[0] + across[0] * 3.0,
            back[1] + across[1] * 3.0,
            tip[0],
            tip[1],
            back[0] - across[0] * 3.0,
            back[1] - across[1] * 3.0
        )
    };
    let lines: String = [(from[0], a), (from[1], b)]
        .iter()
        .map(|(start, end)| format!("M{:.1} {:.1}L{:.1} {:.1}", start[0], start[1], end[0], end[1]))
        .collect();
    let _ = writeln!(
        svg,
        "<path class=\"d\" d=\"{lines}M{:.1} {:.1}L{:.1} {:.1}{}{}\"/>",
        a[0],
        a[1],
        b[0],
        b[1],
        arrow(a, 1.0),
        arrow(b, -1.0)
    );
    let (mx, my) = ((a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0);
    let is_upright = along[1].abs() > along[0].abs();
    let (tx, ty) = if is_upright { (mx - 6.0, my) } else { (mx, my - 5.0) };
    let turn = if is_upright { format!(" transform=\"rotate(-90 {tx:.1} {ty:.1})\"") } else { String::new() };
    let _ = writeln!(svg, "<text class=\"t\" x=\"{tx:.1}\" y=\"{ty:.1}\"{turn}>{text}</text>");
}

/// Three decimals at most, without trailing zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_and_lines_are_in_the_drawing() {
        let square = |size: f64| Projection {
            visible: vec![vec![[0.0, 0.0], [size, 0.0], [size, size], [0.0, size], [0.0, 0.0]]],
            hidden: vec![vec![[1.0, 0.0], [1.0, size]]],
        };
        let around = BoundingBox { min: Vec3::ZERO, max: Vec3::new(100.0, 80.5, 20.0) };
        let svg = draw("<lid>", &[square(10.0), square(20.0), square(30.0), square(40.0)], &around);
        assert!(svg.contains(">100</text>") && svg.contains(">80.5</text>") && svg.contains(">20</text>"));
        assert!(svg.contains("&lt;lid&gt;") && svg.contains("100 × 80.5 × 20 mm"));
        assert_eq!(svg.matches("class=\"v\"").count(), 4);
        assert_eq!(svg.matches("<path class=\"h\" d=").count(), 4);
    }
}
