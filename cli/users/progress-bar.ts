/** A progress bar on one line of a terminal; silent without a terminal. */
export interface ProgressBar {
  /** `share` is from 0 to 1. */
  show(share: number, note: string): void
  end(): void
}

const width = 30
const pauseMilliseconds = 100

export function createProgressBar(): ProgressBar {
  const output = process.stderr
  if (!output.isTTY) return { show() {}, end() {} }
  let shownAt = 0
  return {
    show(share, note) {
      const now = performance.now()
      if (now - shownAt < pauseMilliseconds) return
      shownAt = now
      const filled = Math.round(Math.min(share, 1) * width)
      const bar = '#'.repeat(filled).padEnd(width, '.')
      output.write(`\r[${bar}] ${Math.floor(share * 100)} %  ${note}\u001B[K`)
    },
    end: () => void output.write('\r\u001B[K'),
  }
}
