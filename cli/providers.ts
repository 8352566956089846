/** `npm run providers`: shows what to register with a provider and what to configure. */
import { variables } from '../config/groups/index.ts'
import { providerSettings } from '../config/groups/provider-settings.ts'
import { lookUp } from '../config/names.ts'
import { readConfig } from '../config/read-config.ts'
import { callbackUrl } from '../config/rules/redirect-notices.ts'
import { providerNames } from '../providers/registry.ts'
import { customCommands, customUsage, runCustom } from './providers/custom.ts'
import { commandEnvironment } from './shared/environment.ts'

export const usage = `npm run providers            which are enabled, and the redirect URI to register with them
npm run providers -- NAME    the same for one, with the variables to set
${customUsage}`

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const [name, ...rest] = args
  if (name !== undefined && customCommands.includes(name)) return runCustom(name, rest)
  if (rest.length > 0) throw new Error(`Usage:\n${usage}`)
  const { env, dev } = commandEnvironment()
  // Works before the configuration is complete.
  if (!dev && lookUp(env, 'AUTH_API_EXTERNAL_URL', variables.AUTH_API_EXTERNAL_URL) === undefined) {
    throw new Error(
      'The URL of this server is unknown: start `npm run dev` in this folder, or set AUTH_API_EXTERNAL_URL.',
    )
  }
  const config = readConfig(env, { dev, warn: (notice) => console.error(notice) })
  console.log(`Register exactly this redirect URI with the provider:\n\n  ${callbackUrl(config)}\n`)
  if (name !== undefined) {
    return console.log(describeSettings(name.toLowerCase(), callbackUrl(config)))
  }
  const on = providerNames.filter((each) => providerSettings(config, each).enabled)
  console.log(on.length === 0 ? 'No provider is enabled.' : `Enabled: ${on.join(', ')}.`)
  console.log(`Known: ${providerNames.join(', ')}.`)
}

function describeSettings(name: string, callback: string): string {
  const known = providerNames.find((each) => each === name)
  if (known === undefined) {
    throw new Error(`${name} is not a known provider. Known: ${providerNames.join(', ')}.`)
  }
  const prefix = `AUTH_EXTERNAL_${known.toUpperCase()}`
  return `Then put the values from the provider into .env, and restart:

  ${prefix}_ENABLED=true
  ${prefix}_CLIENT_ID=
  ${prefix}_SECRET=
  ${prefix}_REDIRECT_URI=${callback}

docs/providers.md has the steps for ${known}; docs/external-sign-in.md describes the sign-in.`
}
