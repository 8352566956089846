/** gotrue-go of the Supabase community, by the Go module proxy. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { client } from './journeys.ts'
import { installs, missing, runScript } from './script.ts'

client(
  'gotrue-go',
  async (world, walk, t) => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-go-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const program = join(folder, 'journeys')
    const cwd = join(import.meta.dirname, 'go')
    if (!installs(t, 'go', ['mod', 'download'], cwd)) return
    execFileSync('go', ['build', '-o', program, '.'], { cwd, stdio: 'inherit' })
    await runScript(t, world, walk, [program])
  },
  { skip: missing('go', 'version') },
)
