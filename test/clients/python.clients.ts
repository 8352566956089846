/** supabase-auth, the auth client of supabase-py, from the Python package index. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { client } from './journeys.ts'
import { installs, missing, runScript } from './script.ts'

client(
  'supabase-py',
  async (world, runJourney, t) => {
    const folder = temporaryFolder(t, 'python')
    execFileSync('python3', ['-m', 'venv', folder])
    const python = join(folder, 'bin/python')
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    if (!installs(t, python, [...install, 'supabase-auth>=2.34,<3'])) return
    await runScript(t, world, runJourney, [python, join(import.meta.dirname, 'journeys.py')])
  },
  { skip: missing('python3', '-c', 'import ensurepip, venv') },
)
