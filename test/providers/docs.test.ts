import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

test('docs/providers.md matches the provider definitions', async () => {
  await promisify(execFile)(process.execPath, ['scripts/provider-docs.ts', '--check'])
})
