/** `npm run providers`: what to register with an external provider, and what to set here. */
import { variables } from '../plugins/config/config.ts'
import { lookUp } from '../plugins/config/names.ts'
import { providerSettings } from '../plugins/config/provider-settings.ts'
import { readConfig } from '../plugins/config/read-config.ts'
import { callbackUrl } from '../plugins/config/redirect-notices.ts'
import { providerNames } from '../providers/registry.ts'
import { commandEnvironment } from './environment.ts'

export const usage = `npm run providers            which are switched on, and the address to register with them
npm run providers -- NAME    the same for one, with the variables to set`

/** The command. Throws an Error that is one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const [name, ...rest] = args
  if (rest.length > 0) throw new Error(`Usage:\n${usage}`)
  const { env, dev } = commandEnvironment()
  // A newcomer's first question, before there is a configuration with mistakes to tell.
  if (!dev && lookUp(env, 'AUTH_API_EXTERNAL_URL', variables.AUTH_API_EXTERNAL_URL) === undefined) {
    throw new Error(
      'It is not known where this server is: start `npm run dev` in this folder, or set AUTH_API_EXTERNAL_URL.',
    )
  }
  const config = readConfig(env, { dev, warn: (notice) => console.error(notice) })
  console.log(
    `Register this address with the provider, letter by letter:\n\n  ${callbackUrl(config)}\n`,
  )
  if (name !== undefined) return console.log(settingsOf(name.toLowerCase(), callbackUrl(config)))
  const on = providerNames.filter((each) => providerSettings(config, each).enabled)
  console.log(on.length === 0 ? 'No provider is switched on.' : `Switched on: ${on.join(', ')}.`)
  console.log(`Known: ${providerNames.join(', ')}.`)
}

function settingsOf(name: string, callback: string): string {
  const known = providerNames.find((each) => each === name)
  if (known === undefined) {
    throw new Error(`${name} is no known provider. Known: ${providerNames.join(', ')}.`)
  }
  const prefix = `AUTH_EXTERNAL_${known.toUpperCase()}`
  return `Then put into .env what you get there, and start again:

  ${prefix}_ENABLED=true
  ${prefix}_CLIENT_ID=
  ${prefix}_SECRET=
  ${prefix}_REDIRECT_URI=${callback}

docs/providers.md has the steps for ${known}; docs/external-sign-in.md says what happens then.`
}
