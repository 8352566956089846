/** For tokens with an admin role. The token is read before anything else of a request, its body included. */
import type { FastifyPluginAsync } from 'fastify'

import audit from './audit.ts'
import events from './events.ts'
import generateLink from './generate-link/index.ts'
import invite from './invite.ts'
import keys from './keys.ts'
import oauth from './oauth.ts'
import create from './users/create.ts'
import factor from './users/factor.ts'
import factors from './users/factors.ts'
import impersonate from './users/impersonate.ts'
import list from './users/list.ts'
import mails from './users/mails.ts'
import passkeys from './users/passkeys.ts'
import record from './users/record.ts'
import recoveryCodes from './users/recovery-codes.ts'
import resendInvitation from './users/resend-invitation.ts'
import sessions from './users/sessions.ts'
import webhookDeliveries from './webhooks/deliveries.ts'
import webhooks from './webhooks/list.ts'
import replayWebhook from './webhooks/replay.ts'
import rotateWebhookSecret from './webhooks/rotate-secret.ts'
import testWebhook from './webhooks/test.ts'
import webhook from './webhooks/webhook.ts'

const admins: FastifyPluginAsync = async (fastify) => {
  const { bearerAuth, openapi } = fastify
  fastify.addHook('onRequest', bearerAuth.requireAdmin)
  fastify.addHook('onRoute', openapi.needsBearer)

  await fastify.register(sessions)
  await fastify.register(keys)
  await fastify.register(list)
  await fastify.register(create)
  await fastify.register(record)
  await fastify.register(resendInvitation)
  await fastify.register(mails)
  await fastify.register(factors)
  await fastify.register(factor)
  await fastify.register(passkeys)
  await fastify.register(recoveryCodes)
  await fastify.register(impersonate)
  await fastify.register(generateLink)
  await fastify.register(audit)
  await fastify.register(events)
  await fastify.register(webhooks)
  await fastify.register(webhook)
  await fastify.register(webhookDeliveries)
  await fastify.register(rotateWebhookSecret)
  await fastify.register(testWebhook)
  await fastify.register(replayWebhook)
  await fastify.register(oauth)
}

/** Two more roles may invite, and do nothing else. */
const inviters: FastifyPluginAsync = async (fastify) => {
  const { bearerAuth, openapi } = fastify
  fastify.addHook('onRequest', bearerAuth.requireInviter)
  fastify.addHook('onRoute', openapi.needsBearer)

  await fastify.register(invite)
}

const admin: FastifyPluginAsync = async (fastify) => {
  await fastify.register(inviters)
  await fastify.register(admins)
}

export default admin
