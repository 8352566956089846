import assert from 'node:assert/strict'
import { chmod, chown, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { writeVariables } from '../../../cli/keys/encryption.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'

const isRoot = process.getuid?.() === 0

suite('writeVariables', () => {
  const modes: [before: number, after: number][] = [
    [0o600, 0o600],
    [0o640, 0o640],
    [0o644, 0o640],
  ]
  for (const [before, after] of modes) {
    test(`changes the mode of a file from ${before.toString(8)} to ${after.toString(8)}`, async (t) => {
      const file = await createFile(t)
      await chmod(file, before)
      await writeVariables(file, { A: '2' })
      assert.equal(await readFile(file, 'utf8'), 'B=1\nA=2\n')
      assert.equal((await stat(file)).mode & 0o777, after)
    })
  }

  test('keeps the owner when root changes the file', { skip: !isRoot }, async (t) => {
    const file = await createFile(t)
    await chown(file, 4242, 4343)
    await writeVariables(file, { A: '2' })
    const { uid, gid } = await stat(file)
    assert.deepEqual({ uid, gid }, { uid: 4242, gid: 4343 })
  })

  test('does not take the mode of a leftover temporary file', async (t) => {
    const file = await createFile(t)
    await chmod(file, 0o600)
    await writeFile(`${file}.new`, 'left behind')
    await chmod(`${file}.new`, 0o666)
    await writeVariables(file, { A: '2' })
    assert.equal((await stat(file)).mode & 0o777, 0o600)
  })
})

async function createFile(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t, 'variables')
  const file = join(folder, '.env')
  await writeFile(file, 'A=1\nB=1\n')
  return file
}
