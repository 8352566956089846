/** Figures of the README are those of the benchmark page. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { suite, test } from 'node:test'

const root = new URL('../../', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')

suite('README.md', () => {
  const scenarios: Record<string, string> = {
    'GET /user': 'get-user',
    'PUT /user': 'put-user',
    refresh: 'refresh',
    'sign-in by password': 'sign-in',
    'sign-up, with its mail': 'sign-up',
  }
  for (const [request, scenario] of Object.entries(scenarios)) {
    test(`contains the measured figures of ${request}`, () => {
      const row = new RegExp(
        `^\\| ${RegExp.escape(request)} \\| ([\\d,.]+) \\| ([\\d.]+) ms \\|$`,
        'm',
      )
      const [, rate = '', p99 = ''] = row.exec(read('README.md')) ?? assert.fail(request)
      const rows = read('docs/benchmarks.md').split('\n')
      const measured = rows.some(
        (line) =>
          line.startsWith(`| ${scenario} | server | ${rate} |`) && line.includes(` ${p99} |`),
      )
      assert.ok(measured, `${rate} and ${p99}`)
    })
  }

  test('shows an image of moderate size', () => {
    const [, image = ''] = /!\[[^\]]+\]\(([^)]+)\)/.exec(read('README.md')) ?? []
    assert.ok(existsSync(new URL(image, root)))
    assert.ok(statSync(new URL(image, root)).size < 200_000)
  })
})
