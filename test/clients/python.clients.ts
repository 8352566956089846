/** supabase-auth, the auth client of supabase-py, from the Python package index. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { client } from './journeys.ts'
import { installs, missing, runScript } from './script.ts'

client(
  'supabase-py',
  async (world, walk, t) => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-python-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    execFileSync('python3', ['-m', 'venv', folder])
    const python = join(folder, 'bin/python')
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    if (!installs(t, python, [...install, 'supabase-auth>=2.34,<3'])) return
    await runScript(t, world, walk, [python, join(import.meta.dirname, 'journeys.py')])
  },
  { skip: missing('python3', '-c', 'import ensurepip, venv') },
)
