import { TemplateError } from './template-error.ts'

/** Limits of one rendering, in characters and milliseconds. */
const maxLength = 2_000_000
const maxTime = 250

/** The output of one rendering. Its methods throw a TemplateError with the line when a limit is exceeded. */
export interface Output {
  write(text: string, line: number): void
  /** Called in every iteration of a loop, which may produce no output. */
  checkTime(line: number): void
  text(): string
}

export function createOutput(): Output {
  const parts: string[] = []
  const deadline = performance.now() + maxTime
  let length = 0

  function limitExceeded(line: number) {
    return new TemplateError('the output grows too large or takes too long', line)
  }

  return {
    write(text, line) {
      length += text.length
      if (length > maxLength) throw limitExceeded(line)
      parts.push(text)
    },
    checkTime(line) {
      if (performance.now() > deadline) throw limitExceeded(line)
    },
    text: () => parts.join(''),
  }
}
