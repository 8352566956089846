/** The WebAuthn credential of a factor, in GoTrue's JSON; bytes are base64. */
import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

import type { FactorRecord } from '../../db/factors/factors.ts'

const StoredCredential = Type.Object({
  id: Type.String(),
  publicKey: Type.String(),
  attestationType: Type.Optional(Type.String()),
  transport: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
  flags: Type.Object({
    userPresent: Type.Boolean(),
    userVerified: Type.Boolean(),
    backupEligible: Type.Boolean(),
    backupState: Type.Boolean(),
  }),
  authenticator: Type.Object({
    AAGUID: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    signCount: Type.Integer(),
    cloneWarning: Type.Boolean(),
    attachment: Type.Optional(Type.String()),
  }),
})
export type StoredCredential = Static<typeof StoredCredential>

const check = TypeCompiler.Compile(StoredCredential)

/** Undefined for a factor without one. */
export function getFactorCredential(factor: FactorRecord): StoredCredential | undefined {
  const stored: unknown = factor.web_authn_credential
  return check.Check(stored) ? stored : undefined
}

/** The credential id in base64url. */
export function credentialId({ id }: StoredCredential): string {
  return Buffer.from(id, 'base64').toString('base64url')
}
