/** Which files a server loads: those of a disabled feature are left out. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { promisify } from 'node:util'

const script = join(import.meta.dirname, 'print-loaded-files.ts')
const ofOauthServer = /^(modules\/(oauth-server|page-session|pages)|routes\/(oauth|pages)|ui)\//
const ofPagesAndEndpoints =
  /^(modules\/(oauth-server\/(consents|devices|tokens\/grants)|pages)|routes\/(oauth|pages)\/.+\/|ui)\//
const ofConsole = /^(console|routes\/console\/.+\/)|@fastify\/static/
const ofAccountPage = /^(modules\/account|routes\/pages\/account|ui\/account)\//

/** As a process of its own, because this one has loaded all. */
async function loadedWith(...variables: string[]) {
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...variables])
  const files: string[] = JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]')
  return (part: RegExp) => files.filter((path) => part.test(path)).toSorted()
}

suite('loaded files', () => {
  type Loaded = Awaited<ReturnType<typeof loadedWith>>
  let withoutAny: Loaded
  let withoutAccountPage: Loaded
  before(async () => {
    withoutAny = await loadedWith()
    withoutAccountPage = await loadedWith(
      'AUTH_OAUTH_SERVER_ENABLED=true',
      'AUTH_CONSOLE_ENABLED=true',
    )
  })

  test('of the disabled OAuth server are neither its endpoints nor its pages', () => {
    assert.deepEqual(withoutAny(ofPagesAndEndpoints), [])
    assert.ok(withoutAccountPage(ofPagesAndEndpoints).length > 20)
    // The discovery document and the pages of emailed links need a few.
    assert.ok(withoutAny(ofOauthServer).length < 25)
    assert.ok(withoutAccountPage(ofOauthServer).length > 70)
  })

  test('of the disabled console are none', () => {
    assert.deepEqual(withoutAny(ofConsole), [])
    assert.ok(withoutAccountPage(ofConsole).length > 0)
  })

  test('of the disabled account page are none', async () => {
    assert.deepEqual(withoutAccountPage(ofAccountPage), [])
    const loaded = await loadedWith('AUTH_ACCOUNT_PAGE_ENABLED=true')
    assert.ok(loaded(ofAccountPage).length > 15)
  })
})
