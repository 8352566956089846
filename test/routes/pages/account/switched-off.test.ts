/** The account page while AUTH_ACCOUNT_PAGE_ENABLED is off: it is neither served nor loaded. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { oauthServer } from '../../../support/oauth-server.ts'
import { openBrowser, refreshIn } from '../../../support/page-browser.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../../support/requests.ts'
import { password, signUpUser } from '../../../support/users.ts'

const script = join(import.meta.dirname, '../../console/print-loaded-files.ts')
const parts = /^(modules\/account|routes\/pages\/account|ui\/account)\//

const loadedWith = (...variables: string[]): string[] => {
  const printed = execFileSync(process.execPath, [script, ...variables], { encoding: 'utf8' })
  const files: string[] = JSON.parse(printed.trim().split('\n').at(-1) ?? '[]')
  return files.filter((path) => parts.test(path))
}

suite('disabled account page', () => {
  const serverFor = sharedServers()

  test('loads none of its files', () => {
    assert.deepEqual(loadedWith('AUTH_OAUTH_SERVER_ENABLED=true'), [])
    assert.ok(loadedWith('AUTH_ACCOUNT_PAGE_ENABLED=true').length > 15)
  })

  test('returns 404, and a sign-in without a target redirects to the site', async () => {
    const { app } = await serverFor(oauthServer)
    for (const path of ['/account', '/account/devices', '/account/passkeys/options']) {
      assert.deepEqual(statusAndCode(await app.inject(path)), [404, 'not_found'], path)
    }
    const { email } = await signUpUser(app)
    const browser = openBrowser(app)
    const page = await browser.open('/sign-in')
    const onward = await browser.submit(page, { email, password, action: 'password' })
    assert.equal(refreshIn(onward.html), app.config.AUTH_SITE_URL)
  })
})
