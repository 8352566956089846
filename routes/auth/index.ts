/** Signing up and in: open to everybody, within the limits and captchas that each route states. */
import type { FastifyPluginAsync } from 'fastify'

import authorize from './authorize.ts'
import callback from './callback.ts'
import magiclink from './magiclink.ts'
import otp from './otp/index.ts'
import passkeys from './passkeys.ts'
import recover from './recover.ts'
import resend from './resend.ts'
import signup from './signup/index.ts'
import switchedOff from './switched-off.ts'
import token from './token/index.ts'
import verify from './verify/index.ts'

const auth: FastifyPluginAsync = async (fastify) => {
  await fastify.register(signup)
  await fastify.register(otp)
  await fastify.register(magiclink)
  await fastify.register(recover)
  await fastify.register(resend)
  await fastify.register(verify)
  await fastify.register(token)
  await fastify.register(passkeys)
  await fastify.register(authorize)
  await fastify.register(callback)
  await fastify.register(switchedOff)
}

export default auth
