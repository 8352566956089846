/** Shell blocks marked as runnable (```sh run), run in order next to `npm run dev`. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { wayToPrograms } from '../support/processes/child-environment.ts'
import { newProject, startDev } from '../support/processes/dev-process.ts'

const root = join(import.meta.dirname, '../..')
/** Lines for `.env` that each page asks for. */
const pages: Record<string, Record<string, string>> = {
  'README.md': {},
  'docs/getting-started.md': {},
  'docs/tutorial-google.md': {},
  'docs/tutorial-mail.md': {},
  'docs/tutorial-webhooks.md': {
    AUTH_EVENTS_ENABLED: 'true',
    AUTH_WEBHOOK_PRIVATE_ADDRESSES: 'true',
  },
  'docs/tutorial-servers.md': {},
  'docs/tutorial-testing.md': {},
}

/** Emails arrive shortly after the response, before a reader continues: a block may be retried. */
const attempt = `attempt() {
  for _ in $(seq 1 100); do
    eval "$1" && return 0
    sleep 0.1
  done
  echo "FAILED: $1"; exit 1
}
npm() { shift; [ "$1" = --silent ] && shift; local name=$1; shift; [ "$1" = -- ] && shift; node "${root}/cli.ts" "$(echo "$name" | tr : -)" "$@"; }
set -o pipefail
`

suite('runnable shell blocks', () => {
  test('are on these pages only', () => {
    const marked = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root })
    const withBlocks = marked.filter((page) => readBlocks(page).length > 0)
    assert.deepEqual(withBlocks.toSorted(), Object.keys(pages).toSorted())
  })

  for (const [page, env] of Object.entries(pages)) {
    test(`runs the shell blocks of ${page} without errors`, async (t) => {
      const blocks = readBlocks(page)
      assert.ok(blocks.length > 0)
      const folder = newProject(t)
      const { url, started } = await startDev(t, folder, { env })
      await started
      const lines = blocks.map((block, index) => {
        const code = block.replaceAll('http://127.0.0.1:8081', url)
        return `read -r -d '' block_${index} <<'END_OF_BLOCK'\n${code}\nEND_OF_BLOCK\nattempt "$block_${index}"`
      })
      const { code, output } = await bash([attempt, ...lines].join('\n'), folder)
      assert.equal(code, 0, output)
      assert.doesNotMatch(output, /"error_code"/)
    })
  }
})

function readBlocks(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^( *)```sh run\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

async function bash(script: string, cwd: string) {
  const child = spawn('bash', ['-c', script], { cwd, env: wayToPrograms })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  return { code: code as number | null, output }
}
