import { matchesGlob } from 'node:path'

/** Whether a .dockerignore excludes a path: the last pattern that matches it, or a folder above it, decides. */
export function ignoredBy(text: string): (path: string) => boolean {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const patterns = lines.map((line) => ({
    isKept: line.startsWith('!'),
    glob: line.replace(/^!/, ''),
  }))
  return (path) => {
    const parts = path.split('/')
    const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
    const last = patterns.findLast(({ glob }) => prefixes.some((one) => matchesGlob(one, glob)))
    return last !== undefined && !last.isKept
  }
}
