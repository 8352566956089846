/** A reporter of node:test: one line of JSON for each test and suite that ran, with its full title and outcome. */
import type { TestEvent } from 'node:test/reporters'

export default async function* outcomes(source: AsyncIterable<TestEvent>) {
  const path: string[] = []
  for await (const { type, data } of source) {
    if (type === 'test:start') path.splice(data.nesting, Infinity, data.name)
    if ((type !== 'test:pass' && type !== 'test:fail') || data.skip !== undefined) continue
    const title = path.slice(0, data.nesting + 1).join(' › ')
    yield `${JSON.stringify({ title, passed: type === 'test:pass' })}\n`
  }
}
