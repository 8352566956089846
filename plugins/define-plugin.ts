/** The functions that make plugins: a name, what it needs, and what it decorates the instance with or adds to it. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'

/** What this project decorates, and what every instance has besides. */
type Decorator = keyof FastifyInstance & string

/**
 * What a plugin declared that it needs, and nothing else of the instance. Methods of Fastify itself
 * (`addHook`, `register`) are called on the house: they do not work when taken out of it.
 */
export type House<Needs extends Decorator> = Pick<FastifyInstance, Needs>

interface Definition<Name extends Decorator, Needs extends Decorator> {
  /** Of the decorator; the file or folder has the same name in kebab-case, and so has the plugin. */
  name: Name
  needs: readonly Needs[]
  create: (house: House<Needs>) => FastifyInstance[Name] | Promise<FastifyInstance[Name]>
}

/** A decorator made from other decorators. A missing need stops the boot by its name; an undeclared one does not compile. */
export function definePlugin<Name extends Decorator, Needs extends Decorator = never>({
  name,
  needs,
  create,
}: Definition<Name, Needs>): FastifyPluginAsync {
  return fp(
    async (fastify) => {
      fastify.decorate<unknown, string>(name, await create(fastify))
    },
    { name: toKebabCase(name), fastify: '5.x', decorators: { fastify: [...needs] } },
  )
}

interface Extension<Needs extends Decorator> {
  /** The file or folder has the same name. */
  name: string
  needs: readonly Needs[]
  install: (house: House<Needs>) => void | Promise<void>
}

/** A plugin without a decorator: hooks, parsers, what every request carries. Its needs are held like those of the others. */
export function defineExtension<Needs extends Decorator>({
  name,
  needs,
  install,
}: Extension<Needs>): FastifyPluginAsync {
  return fp(
    async (fastify) => {
      await install(fastify)
    },
    { name, fastify: '5.x', decorators: { fastify: [...needs] } },
  )
}

function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

type Step<Bound> = (house: Bound, ...input: never[]) => unknown
type Rest<S> = S extends (house: never, ...input: infer Input) => infer Result
  ? (...input: Input) => Result
  : never

/** The steps of a noun without their first parameter, as its decorator offers them. */
export function bindSteps<Bound, Steps extends Record<string, Step<Bound>>>(
  house: Bound,
  steps: Steps,
): { [Name in keyof Steps]: Rest<Steps[Name]> } {
  const bound = Object.entries(steps).map(([name, step]) => [name, step.bind(undefined, house)])
  return Object.fromEntries(bound)
}
