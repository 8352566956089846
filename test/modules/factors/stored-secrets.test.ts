/** Secrets of authenticator apps at rest, also as GoTrue stored them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createEncryption } from '../../../plugins/security/encryption/index.ts'
import { encryptionKeys } from '../../../plugins/security/encryption/keys.ts'
import {
  challenge,
  everyFactor,
  stepUp,
  totpCode,
  userWithTotp,
  verifyChallenge,
} from '../../support/factors/factors.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { build } from '../../support/server.ts'

suite('TOTP secrets', () => {
  const serverFor = sharedServers()

  test('are encrypted, bound to their factor and not logged', async (t) => {
    const lines: string[] = []
    const { app, config } = await build(t, { env: everyFactor, lines })
    const { session, factor } = await userWithTotp(app)
    const { id: challenge_id } = await challenge(app, session, factor.id)
    const code = factor.code(1)
    await verifyChallenge(app, session, factor.id, { challenge_id, code })
    const { rows } = await app.pool.query('select secret from auth.mfa_factors')
    const encryption = createEncryption(encryptionKeys(config))
    assert.equal(encryption.decrypt(factor.id, rows[0].secret, 'it'), factor.secret)
    assert.throws(() => encryption.decrypt(crypto.randomUUID(), rows[0].secret, 'it'))
    const written = lines.join('\n')
    assert.ok(written.includes('verification_attempted'))
    assert.ok(!written.includes(factor.secret))
    assert.ok(!new RegExp(`\\b${code}\\b`).test(written))
  })

  test('are accepted in the plain text of GoTrue and encrypted on their next use', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await userWithTotp(app)
    const plain = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
    await app.pool.query('update auth.mfa_factors set secret = $1 where id = $2', [
      plain,
      factor.id,
    ])
    await stepUp(app, session, { ...factor, code: (away = 0) => totpCode(plain, away) }, 1)
    const { rows } = await app.pool.query('select secret from auth.mfa_factors where id = $1', [
      factor.id,
    ])
    assert.equal(JSON.parse(rows[0].secret).alg, 'aes-gcm-hkdf')
  })

  test('are decrypted with GoTrue’s key when GoTrue encrypted them', async () => {
    const key = Buffer.alloc(32, 7)
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `gotrue-1:${key.toString('base64url')}`,
    })
    const { session, factor } = await userWithTotp(app)
    const stored = JSON.parse(createEncryption([key]).encrypt(factor.id, factor.secret))
    const secret = JSON.stringify({ ...stored, key_id: 'gotrue-1' })
    await app.pool.query('update auth.mfa_factors set secret = $1 where id = $2', [
      secret,
      factor.id,
    ])
    await stepUp(app, session, factor, 1)
    const { rows } = await app.pool.query('select secret from auth.mfa_factors where id = $1', [
      factor.id,
    ])
    assert.notEqual(JSON.parse(rows[0].secret).key_id, 'gotrue-1')
  })
})
