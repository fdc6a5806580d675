//! Finding boxes that meet among many, with a tree instead of comparing all pairs.

use crate::geometry::BoundingBox;

/// Below this many boxes they are compared one by one.
const LEAF: usize = 8;

/// Returns the pairs of one box of each list that meet, or come closer than `gap`, in order.
pub fn near_pairs(a: &[BoundingBox], b: &[BoundingBox], gap: f64) -> Vec<(usize, usize)> {
    let mut indices: Vec<usize> = (0..b.len()).collect();
    let Some(tree) = Node::new(b, &mut indices) else { return Vec::new() };
    let mut pairs = Vec::new();
    for (index, one) in a.iter().enumerate() {
        tree.find(b, one, gap, &mut |other| pairs.push((index, other)));
    }
    pairs.sort_unstable();
    pairs
}

struct Node {
    around: BoundingBox,
    inside: Inside,
}

enum Inside {
    Boxes(Vec<usize>),
    Halves(Box<[Node; 2]>),
}

impl Node {
    fn new(boxes: &[BoundingBox], indices: &mut [usize]) -> Option<Self> {
        let around = indices.iter().map(|index| boxes[*index]).reduce(BoundingBox::union)?;
        if indices.len() <= LEAF {
            return Some(Self { around, inside: Inside::Boxes(indices.to_vec()) });
        }
        let size = around.size().to_array();
        let axis = (0..3).max_by(|i, j| size[*i].total_cmp(&size[*j])).unwrap_or(0);
        let middle = |index: &usize| boxes[*index].center().to_array()[axis];
        let half = indices.len() / 2;
        indices.select_nth_unstable_by(half, |i, j| middle(i).total_cmp(&middle(j)));
        let (low, high) = indices.split_at_mut(half);
        let halves = Box::new([Self::new(boxes, low)?, Self::new(boxes, high)?]);
        Some(Self { around, inside: Inside::Halves(halves) })
    }

    fn find(&self, boxes: &[BoundingBox], one: &BoundingBox, gap: f64, found: &mut impl FnMut(usize)) {
        if !self.around.meets(one, gap) {
            return;
        }
        match &self.inside {
            Inside::Boxes(indices) => {
                for index in indices.iter().filter(|index| boxes[**index].meets(one, gap)) {
                    found(*index);
                }
            }
            Inside::Halves(halves) => halves.iter().for_each(|half| half.find(boxes, one, gap, found)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::Vec3;

    fn boxes() -> impl Strategy<Value = Vec<BoundingBox>> {
        let one = (0..20_i32, 0..20_i32, 0..20_i32, 1..5_i32).prop_map(|(x, y, z, size)| {
            let min = Vec3::new(f64::from(x), f64::from(y), f64::from(z));
            BoundingBox { min, max: min + Vec3::new(1.0, 1.0, 1.0) * f64::from(size) }
        });
        proptest::collection::vec(one, 0..60)
    }

    proptest! {
        #[test]
        fn the_tree_finds_what_comparing_all_pairs_finds(a in boxes(), b in boxes()) {
            let mut all = Vec::new();
            for (i, one) in a.iter().enumerate() {
                all.extend(b.iter().enumerate().filter(|(_, other)| one.meets(other, 0.0)).map(|(j, _)| (i, j)));
            }
            prop_assert_eq!(near_pairs(&a, &b, 0.0), all);
        }
    }
}
