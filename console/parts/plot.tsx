/** Small plots in plain SVG: a line with its area, and bars. Colours and sizes come from styles/parts.css. */
import { formatBucket, formatCount, formatMoment } from '../core/format.ts'

export interface Point {
  at: string
  count: number
}

interface PlotProps {
  /** What is counted, for screen readers. */
  label: string
  points: readonly Point[]
}

const [width, height] = [600, 96]

export function LinePlot({ label, points }: PlotProps) {
  const most = Math.max(0, ...points.map(({ count }) => count))
  const step = width / Math.max(1, points.length - 1)
  const spots = points.map(
    ({ count }, index) => `${index * step},${height - (count / (most || 1)) * height}`,
  )
  return (
    <figure class="plot">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={describe(label, points)}
      >
        <line class="axis" x1="0" x2={width} y1={height} y2={height} />
        <polygon class="area" points={`0,${height} ${spots.join(' ')} ${width},${height}`} />
        <polyline class="line" points={spots.join(' ')} />
      </svg>
      <Range points={points} most={most} />
    </figure>
  )
}

/** Bars in further table rows. */
export function Bars({ label, points }: PlotProps) {
  const most = Math.max(1, ...points.map(({ count }) => count))
  const step = width / Math.max(1, points.length)
  return (
    <span class="plot bars">
      <svg
        viewBox={`0 0 ${width} 24`}
        preserveAspectRatio="none"
        role="img"
        aria-label={describe(label, points)}
      >
        {points.map(({ at, count }, index) => {
          const size = (count / most) * 24
          return (
            <rect
              key={at}
              class="bar"
              x={index * step}
              y={24 - size}
              width={step * 0.7}
              height={size}
            />
          )
        })}
      </svg>
    </span>
  )
}

function Range({ points, most }: { points: readonly Point[]; most: number }) {
  const [first, last] = [points[0], points.at(-1)]
  const isShort = Boolean(first && last && computeSpan(first, last) < 2 * dayMs)
  return (
    <figcaption>
      <span>{first && formatBucket(first.at, isShort)}</span>
      <span>peak {formatCount(most)}</span>
      <span>{last && formatBucket(last.at, isShort)}</span>
    </figcaption>
  )
}

const dayMs = 86_400_000
const computeSpan = (first: Point, last: Point) => Date.parse(last.at) - Date.parse(first.at)

function describe(label: string, points: readonly Point[]): string {
  const total = points.reduce((sum, { count }) => sum + count, 0)
  const peak = points.reduce<Point | undefined>(
    (best, point) => (!best || point.count > best.count ? point : best),
    undefined,
  )
  const when = peak && peak.count > 0 ? `, most (${peak.count}) at ${formatMoment(peak.at)}` : ''
  return `${label}: ${formatCount(total)} in all${when}`
}
