import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { ErrorResponses } from '../../../schemas/error.ts'
import { featureDisabled } from '../../../schemas/errors.ts'
import { StringEnum } from '../../../schemas/values/choices.ts'

const Report = Type.Object({
  passed: Type.Integer(),
  warnings: Type.Integer(),
  failed: Type.Integer(),
  results: Type.Array(
    Type.Object({
      check: Type.String(),
      level: StringEnum(['pass', 'warn', 'fail']),
      sentence: Type.String(),
    }),
  ),
})

const doctor: FastifyPluginAsyncTypebox = async (app) => {
  const { config, examine } = app

  app.get(
    '/admin/doctor',
    {
      config: { minimumRole: 'operator' },
      schema: {
        summary: 'Run the checks of npm run doctor',
        description:
          'Checks the database, the mail server and the providers, which takes some seconds.',
        tags: ['admin'],
        response: { 200: Report, ...ErrorResponses },
      },
    },
    async () => {
      if (!examine) throw featureDisabled('This server was started without these checks')
      return examine(config)
    },
  )
}

export default doctor
