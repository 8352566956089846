/** gotrue-go of the Supabase community, by the Go module proxy. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { client } from './journeys.ts'
import { installs, missing, runScript } from './script.ts'

client(
  'gotrue-go',
  async (world, runJourney, t) => {
    const folder = temporaryFolder(t, 'go')
    const program = join(folder, 'journeys')
    const cwd = join(import.meta.dirname, 'go')
    if (!installs(t, 'go', ['mod', 'download'], cwd)) return
    execFileSync('go', ['build', '-o', program, '.'], { cwd, stdio: 'inherit' })
    await runScript(t, world, runJourney, [program])
  },
  { skip: missing('go', 'version') },
)
