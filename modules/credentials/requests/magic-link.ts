import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { UserMetadata } from '../../../db/tables/users.ts'
import {
  emailProviderDisabled,
  magicLinkDisabled,
  validationFailed,
} from '../../../schemas/errors.ts'
import { normalizeEmail } from '../../../schemas/fields.ts'
import { readLinkContext } from '../../flows/index.ts'
import type { PkceInput } from '../../flows/pkce.ts'
import { checkMetadataSize } from '../../users/index.ts'
import type { EmailRequest } from './email-request-results.ts'

interface MagicLinkFields extends PkceInput {
  email?: string
  data?: UserMetadata
}

/**
 * Parses a magic link request from the body of /magiclink or /otp. Throws email_provider_disabled, validation_failed or
 * metadata_too_large.
 */
export function readMagicLink(
  app: FastifyInstance,
  request: FastifyRequest,
  body: MagicLinkFields,
  { createUser }: { createUser: boolean },
): EmailRequest {
  if (!app.config.AUTH_EXTERNAL_EMAIL_ENABLED) {
    throw emailProviderDisabled('Email logins are disabled', 422)
  }
  if (!app.config.AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED) {
    throw magicLinkDisabled()
  }
  const { email = '', data = {} } = body
  if (email === '') throw validationFailed('Password recovery requires an email', 422)
  checkMetadataSize(app, { user_metadata: data })
  return {
    kind: createUser ? 'magic_link' : 'sign_in',
    address: normalizeEmail(email),
    aud: request.audience,
    data,
    context: readLinkContext(app, request, body),
    ip: request.clientIp,
  }
}
