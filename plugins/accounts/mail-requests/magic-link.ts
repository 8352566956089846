import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Metadata } from '../../../db/users.ts'
import { emailProviderDisabled } from '../../../errors.ts'
import type { Config } from '../../../schemas/config/config.ts'
import { normalizeEmail } from '../../../schemas/fields.ts'
import type { PkceFields } from '../pkce.ts'
import type { MailRequest } from './answers.ts'

export interface MagicLinkFields extends PkceFields {
  email?: string
  data?: Metadata
}

/**
 * Reads a request for a sign-in link out of the body of /magiclink or /otp.
 * Throws email_provider_disabled or validation_failed.
 */
export function createMagicLinkReader(config: Config, links: FastifyInstance['links']) {
  const isOpen = config.AUTH_EXTERNAL_EMAIL_ENABLED && config.AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED

  return (request: FastifyRequest, body: MagicLinkFields): MailRequest => {
    if (!isOpen) throw emailProviderDisabled('Email logins are disabled', 422)
    const { email = '', data = {} } = body
    return {
      kind: 'magic_link',
      address: normalizeEmail(email, email === '' ? 422 : 400),
      aud: config.AUTH_JWT_AUD,
      data,
      context: links.contextOf(request, body),
      ip: request.clientIp,
    }
  }
}
