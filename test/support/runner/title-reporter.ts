/** A reporter of node:test: one line of JSON for each test and suite that passed, with its file and full title. */
import type { TestEvent } from 'node:test/reporters'

export default async function* titles(source: AsyncIterable<TestEvent>) {
  // Start events come in definition order, parents first, whatever runs concurrently.
  const path: string[] = []
  for await (const { type, data } of source) {
    if (type === 'test:start') path.splice(data.nesting, Infinity, data.name)
    if (type !== 'test:pass' || data.skip !== undefined || data.todo !== undefined) continue
    const title = path.slice(0, data.nesting + 1).join(' › ')
    yield `${JSON.stringify({ file: data.file, title })}\n`
  }
}
