/** Converts the markers of schemas/documented.ts to OpenAPI. */
import { isRecord } from '../../../schemas/values/record.ts'

type Json = { [key: string]: unknown }

/** Adds required properties, enums and optional bodies, in place. */
export function applyMarks(document: { paths?: object }): void {
  visit(document.paths)
}

function visit(node: unknown): void {
  if (Array.isArray(node)) {
    node.forEach(visit)
    return
  }
  if (!isRecord(node)) return
  Object.values(node).forEach(visit)
  if (isRecord(node.properties)) requireMarked(node, node.properties)
  if (Array.isArray(node.parameters)) node.parameters.filter(isRecord).forEach(requireParameter)
  if (isRecord(node.requestBody)) allowNoBody(node.requestBody)
  if (Array.isArray(node['x-enum'])) {
    node.enum = node['x-enum']
    delete node['x-enum']
  }
  if (Array.isArray(node.anyOf)) joinChoices(node, node.anyOf)
}

/** A union of string literals becomes an enum. */
function joinChoices(node: Json, choices: unknown[]): void {
  const texts = choices.flatMap((choice) => {
    const listed = isRecord(choice) && choice.type === 'string' ? choice.enum : undefined
    return Array.isArray(listed) ? listed : []
  })
  if (texts.length !== choices.length) return
  delete node.anyOf
  Object.assign(node, { type: 'string', enum: texts })
}

function requireMarked(schema: Json, properties: Json): void {
  const marked = Object.entries(properties).filter(([, property]) => removeMark(property))
  if (marked.length === 0) return
  const known = Array.isArray(schema.required) ? schema.required : []
  schema.required = [...known, ...marked.map(([name]) => name)]
}

function requireParameter(parameter: Json): void {
  if (removeMark(parameter.schema) || removeMark(parameter)) parameter.required = true
}

function removeMark(schema: unknown): boolean {
  if (!isRecord(schema) || schema['x-required'] !== true) return false
  delete schema['x-required']
  return true
}

/** A schema "this or null" marks an optional request body. */
function allowNoBody(requestBody: Json): void {
  const content = isRecord(requestBody.content) ? requestBody.content : {}
  for (const media of Object.values(content).filter(isRecord)) {
    const choices = isRecord(media.schema) ? media.schema.anyOf : undefined
    if (!Array.isArray(choices) || !choices.some(isNull)) continue
    const others = choices.filter((choice) => !isNull(choice))
    media.schema = others.length === 1 ? others[0] : { anyOf: others }
    requestBody.required = false
  }
}

function isNull(schema: unknown): boolean {
  return isRecord(schema) && schema.type === 'null'
}
