import type { FastifyRequest } from 'fastify'

import type { Metadata } from '../../../../db/users.ts'
import { emailProviderDisabled, validationFailed } from '../../../../errors.ts'
import { normalizeEmail } from '../../../../schemas/fields.ts'
import type { House } from '../../../define-plugin.ts'
import type { PkceFields } from '../../flows/pkce.ts'
import type { EmailRequest } from './answers.ts'

export interface MagicLinkFields extends PkceFields {
  email?: string
  data?: Metadata
}

/**
 * Reads a request for a sign-in link out of the body of /magiclink or /otp.
 * Throws email_provider_disabled, validation_failed or metadata_too_large.
 */
export function readMagicLink(
  { config, flows, users }: House<'config' | 'flows' | 'users'>,
  request: FastifyRequest,
  body: MagicLinkFields,
): EmailRequest {
  if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
    throw emailProviderDisabled('Email logins are disabled', 422)
  }
  if (!config.AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED) {
    throw emailProviderDisabled('Login with magic link is disabled', 422)
  }
  const { email = '', data = {} } = body
  if (email === '') throw validationFailed('Password recovery requires an email', 422)
  users.checkMetadata({ user_metadata: data })
  return {
    kind: 'magic_link',
    address: normalizeEmail(email),
    aud: request.audience,
    data,
    context: flows.linkContext(request, body),
    ip: request.clientIp,
  }
}
