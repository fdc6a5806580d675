//! A shaded picture of solids with their edges, drawn without a graphics card.

use crate::geometry::Vec3;
use crate::kernel::{Mesh, ViewDirection};

/// Each pixel is the mean of this many squared.
const SAMPLES: usize = 2;
/// The part of the picture that the solids fill.
const FILL: f64 = 0.86;
/// How dark an edge is.
const EDGE: [f32; 3] = [0.10, 0.12, 0.15];
/// Colors of parts that have none.
const PALETTE: [[f64; 3]; 6] = [
    [0.62, 0.70, 0.78],
    [0.86, 0.62, 0.38],
    [0.55, 0.72, 0.52],
    [0.78, 0.55, 0.58],
    [0.68, 0.62, 0.80],
    [0.82, 0.77, 0.48],
];

/// The size of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureSize {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// Draws parts, each with its color, as pixels row by row.
pub fn render(parts: &[(Option<[f64; 3]>, Mesh)], view: &ViewDirection, size: PictureSize) -> Vec<[u8; 3]> {
    let mut canvas = Canvas::new(parts, view, size);
    for (index, (color, mesh)) in parts.iter().enumerate() {
        let color = color.unwrap_or(PALETTE[index % PALETTE.len()]);
        canvas.fill(mesh, color);
    }
    for (_, mesh) in parts {
        canvas.draw_edges(mesh);
    }
    canvas.pixels(size)
}

struct Canvas {
    width: usize,
    height: usize,
    axes: [Vec3; 3],
    scale: f64,
    middle: [f64; 2],
    /// How near something is at each sample; larger is nearer.
    depth: Vec<f32>,
    color: Vec<[f32; 3]>,
    /// How much nearer an edge may be thought than it is, so that its own faces do not hide it.
    edge_lift: f32,
}

impl Canvas {
    fn new(parts: &[(Option<[f64; 3]>, Mesh)], view: &ViewDirection, size: PictureSize) -> Self {
        let from = view.from.unit().unwrap_or(Vec3::Z);
        let right = view.right.unit().unwrap_or(Vec3::X);
        let axes = [right, from.cross(right), from];
        let (width, height) = (size.width as usize * SAMPLES, size.height as usize * SAMPLES);
        let mut bounds = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
        for point in parts.iter().flat_map(|(_, mesh)| &mesh.positions) {
            let [u, v] = [axes[0].dot(vector(*point)), axes[1].dot(vector(*point))];
            bounds = [bounds[0].min(u), bounds[1].min(v), bounds[2].max(u), bounds[3].max(v)];
        }
        let extent = [(bounds[2] - bounds[0]).max(1e-6), (bounds[3] - bounds[1]).max(1e-6)];
        let scale = FILL * (width as f64 / extent[0]).min(height as f64 / extent[1]);
        let background = (0..width * height).map(|index| backdrop(index / width, height)).collect();
        Self {
            width,
            height,
            axes,
            scale,
            middle: [(bounds[0] + bounds[2]) / 2.0, (bounds[1] + bounds[3]) / 2.0],
            depth: vec![f32::MIN; width * height],
            color: background,
            edge_lift: (extent[0].max(extent[1]) * 0.003) as f32,
        }
    }

    /// Returns where a point is in the picture, and how near.
    fn place(&self, point: [f32; 3]) -> [f64; 3] {
        let point = vector(point);
        let [u, v, near] = self.axes.map(|axis| axis.dot(point));
        let x = self.width as f64 / 2.0 + (u - self.middle[0]) * self.scale;
        let y = self.height as f64 / 2.0 - (v - self.middle[1]) * self.scale;
        [x, y, near]
    }

    fn fill(&mut self, mesh: &Mesh, color: [f64; 3]) {
        let places: Vec<[f64; 3]> = mesh.positions.iter().map(|point| self.place(*point)).collect();
        let lights: Vec<f64> = mesh.normals.iter().map(|normal| self.light(vector(*normal))).collect();
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|index| index as usize);
            self.fill_triangle([places[a], places[b], places[c]], [lights[a], lights[b], lights[c]], color);
        }
    }

    /// Light from the upper left and a weaker one from the right, both in front.
    fn light(&self, normal: Vec3) -> f64 {
        let [right, up, from] = self.axes;
        let toward = |r: f64, u: f64, f: f64| (right * r + up * u + from * f).unit().unwrap_or(from);
        let main = normal.dot(toward(-0.45, 0.75, 0.6)).max(0.0);
        let second = normal.dot(toward(0.8, 0.1, 0.5)).max(0.0);
        0.30 + 0.70 * main + 0.14 * second
    }

    fn fill_triangle(&mut self, [a, b, c]: [[f64; 3]; 3], lights: [f64; 3], color: [f64; 3]) {
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area.abs() < 1e-12 {
            return;
        }
        let range = |values: [f64; 3], limit: usize| {
            let least = values.iter().copied().fold(f64::MAX, f64::min).floor().max(0.0) as usize;
            let most = values.iter().copied().fold(f64::MIN, f64::max).ceil().max(0.0) as usize;
            least..most.saturating_add(1).min(limit)
        };
        for y in range([a[1], b[1], c[1]], self.height) {
            for x in range([a[0], b[0], c[0]], self.width) {
                let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
                let wb = ((px - a[0]) * (c[1] - a[1]) - (py - a[1]) * (c[0] - a[0])) / area;
                let wc = ((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) / area;
                let wa = 1.0 - wb - wc;
                if wa < -1e-9 || wb < -1e-9 || wc < -1e-9 {
                    continue;
                }
                let near = (wa * a[2] + wb * b[2] + wc * c[2]) as f32;
                let index = y * self.width + x;
                if near > self.depth[index] {
                    self.depth[index] = near;
                    let light = wa * lights[0] + wb * lights[1] + wc * lights[2];
                    self.color[index] = color.map(|part| (part * light).min(1.0) as f32);
                }
            }
        }
    }

    fn draw_edges(&mut self, mesh: &Mesh) {
        for edge in &mesh.edges {
            let places: Vec<[f64; 3]> = edge.iter().map(|point| self.place(*point)).collect();
            for pair in places.windows(2) {
                self.draw_line(pair[0], pair[1]);
            }
        }
    }

    fn draw_line(&mut self, a: [f64; 3], b: [f64; 3]) {
        let steps = (a[0] - b[0]).hypot(a[1] - b[1]).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            let at = [0, 1, 2].map(|axis| a[axis] + (b[axis] - a[axis]) * part);
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (x, y) = (at[0] as i64 + dx, at[1] as i64 + dy);
                if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y))
                    && x < self.width
                    && y < self.height
                {
                    let index = y * self.width + x;
                    if at[2] as f32 + self.edge_lift >= self.depth[index] {
                        self.color[index] = EDGE;
                    }
                }
            }
        }
    }

    fn pixels(&self, size: PictureSize) -> Vec<[u8; 3]> {
        let (width, height) = (size.width as usize, size.height as usize);
        let mut pixels = Vec::with_capacity(width * height);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let mut sum = [0.0_f32; 3];
            for (dy, dx) in (0..SAMPLES).flat_map(|dy| (0..SAMPLES).map(move |dx| (dy, dx))) {
                let sample = self.color[(y * SAMPLES + dy) * self.width + x * SAMPLES + dx];
                sum = [0, 1, 2].map(|channel| sum[channel] + sample[channel]);
            }
            let count = (SAMPLES * SAMPLES) as f32;
            // Samples are light; the file wants what a screen shows for it.
            pixels.push(
                sum.map(|part| ((part / count).clamp(0.0, 1.0).powf(1.0 / 1.25) * 255.0).round() as u8),
            );
        }
        pixels
    }
}

fn backdrop(row: usize, height: usize) -> [f32; 3] {
    let part = row as f32 / height.max(1) as f32;
    [0.97 - 0.12 * part, 0.98 - 0.10 * part, 0.99 - 0.07 * part]
}

fn vector([x, y, z]: [f32; 3]) -> Vec3 {
    Vec3::new(f64::from(x), f64::from(y), f64::from(z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_in_the_middle_with_its_edges() {
        let mesh = Mesh {
            positions: vec![[0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [10.0, 10.0, 0.0], [0.0, 10.0, 0.0]],
            normals: vec![[0.0, 0.0, 1.0]; 4],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            edges: vec![vec![[0.0, 0.0, 0.0], [10.0, 0.0, 0.0]]],
        };
        let view = ViewDirection { from: Vec3::Z, right: Vec3::X };
        let size = PictureSize { width: 50, height: 50 };
        let pixels = render(&[(Some([1.0, 0.0, 0.0]), mesh)], &view, size);
        let at = |x: usize, y: usize| pixels[y * 50 + x];
        assert!(at(25, 25)[0] > 200 && at(25, 25)[1] == 0, "{:?}", at(25, 25));
        assert!(at(1, 1)[1] > 200, "{:?}", at(1, 1));
        // The drawn edge is the lower one.
        let darkest = |row: usize| (0..50).map(|x| at(x, row)[0]).min().unwrap();
        assert!((44..48).any(|row| darkest(row) < 170), "no edge");
    }
}
