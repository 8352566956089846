/** Error messages for the client may repeat an email address; the log at level info does not. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { statusAndCode } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { signUp } from '../../support/users.ts'

suite('log lines of rejected requests', () => {
  test('contain the error code and no email address', async (t) => {
    const lines: string[] = []
    const env = { AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'ann@example.com' }
    const { app } = await build(t, { env, lines })
    const response = await signUp(app, { email: 'bob@example.org' })
    assert.deepEqual(statusAndCode(response), [400, 'email_address_not_authorized'])
    assert.match(response.json().msg, /bob@example\.org/)
    const line = lines.find((each) => each.includes('email_address_not_authorized')) ?? ''
    assert.match(line, /Email address \\"\[address\]\\" cannot be used/)
    assert.equal(lines.filter((each) => each.includes('bob@example.org')).length, 0)
  })
})
