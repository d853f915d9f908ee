//! A ray tracer: workers render the lines of a picture and add what they have rendered to a checksum of the whole,
//! by which a picture is known to be right.
//!
//! The checksum is an atomic that is read, added to, and written. Of two workers that finish a line at the same time
//! one is not counted.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use unpick_breakpoint::{Breakpoint, step, trigger};

#[derive(Clone, Copy)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

impl Vector {
    fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn minus(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

struct Sphere {
    centre: Vector,
    radius: f64,
    colour: u64,
}

struct Scene {
    spheres: Vec<Sphere>,
    width: usize,
    height: usize,
}

struct Picture {
    next_line: AtomicUsize,
    checksum: AtomicU64,
    adding: Mutex<()>,
    lines: Mutex<Vec<usize>>,
}

impl Scene {
    fn with_spheres(count: u32, width: usize, height: usize) -> Self {
        let sphere = |n: u32| {
            let angle = f64::from(n);
            let centre = Vector { x: 3.0 * angle.cos(), y: 3.0 * angle.sin(), z: 8.0 + angle };
            Sphere { centre, radius: 1.0 + f64::from(n % 3) / 2.0, colour: u64::from(n) * 37 + 11 }
        };
        Self { spheres: (0..count).map(sphere).collect(), width, height }
    }

    /// The colour that a ray from the origin in this direction meets first.
    fn trace(&self, direction: Vector) -> u64 {
        let mut nearest = f64::INFINITY;
        let mut colour = 1;
        for sphere in &self.spheres {
            let to_centre = sphere.centre.minus(Vector { x: 0.0, y: 0.0, z: 0.0 });
            let along = to_centre.dot(direction) / direction.dot(direction).sqrt();
            let off = to_centre.dot(to_centre) - along * along;
            if off < sphere.radius * sphere.radius && along > 0.0 && along < nearest {
                nearest = along;
                colour = sphere.colour;
            }
        }
        colour
    }

    fn render_line(&self, line: usize) -> u64 {
        let y = line as f64 / self.height as f64 - 0.5;
        let ray = |column: usize| Vector { x: column as f64 / self.width as f64 - 0.5, y, z: 1.0 };
        (0..self.width).map(|column| self.trace(ray(column))).sum()
    }
}

impl Picture {
    fn add(&self, line: usize, sum: u64) {
        {
            let _alone = cfg!(feature = "fixed").then(|| self.adding.lock().unwrap());
            let step =
                step!(Breakpoint::atomicity("lost-line", self).intruder().pause(Duration::ZERO));
            let before = self.checksum.load(Ordering::SeqCst); /* BUG: 1 */
            let intrudes = step.is_hit();
            trigger!(Breakpoint::atomicity("lost-line", self).gap().when(|| !intrudes).bound(1));
            let after = before + sum * (line as u64 % 7 + 1);
            self.checksum.store(after, Ordering::SeqCst); /* BUG: 2, 3 */
            step.done();
        }
        self.lines.lock().unwrap().push(line);
    }
}

fn work(scene: &Scene, picture: &Picture) {
    loop {
        let line = picture.next_line.fetch_add(1, Ordering::Relaxed);
        if line >= scene.height {
            return;
        }
        picture.add(line, scene.render_line(line));
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let width = arguments.next().unwrap_or(8);
    let height = arguments.next().unwrap_or(120);
    let scene = Scene::with_spheres(12, width, height);
    let picture = Picture {
        next_line: AtomicUsize::new(0),
        checksum: AtomicU64::new(0),
        adding: Mutex::new(()),
        lines: Mutex::new(Vec::new()),
    };
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| work(&scene, &picture));
        }
    });
    let expected: u64 =
        (0..height).map(|line| scene.render_line(line) * (line as u64 % 7 + 1)).sum();
    let checksum = picture.checksum.load(Ordering::SeqCst);
    println!("{} lines, checksum {checksum}", picture.lines.lock().unwrap().len());
    if checksum != expected {
        eprintln!("FAILED: the checksum of the picture should be {expected}");
        std::process::exit(1);
    }
}
