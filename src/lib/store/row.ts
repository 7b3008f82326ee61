// The rows of a table as a type, read from the SQL that creates it: one column a line, indented by one tab or more.

interface Values {
	TEXT: string;
	INTEGER: number;
	BIGINT: number;
}

type Lines<Text extends string, Found = never> = Text extends `${infer Line}\n${infer Rest}`
	? Lines<Rest, Found | Line>
	: Found | Text;

type Name<Line> = Line extends `\t${infer Rest}`
	? Name<Rest>
	: Line extends `${infer Column} ${keyof Values}${string}`
		? Column
		: never;

type Value<Line> =
	| { [Type in keyof Values]: Line extends `${string} ${Type}${string}` ? Values[Type] : never }[keyof Values]
	| (Line extends `${string} NOT NULL${string}` ? never : null);

type Columns<Line> = { [One in Line as Name<One>]: Value<One> };

/** An interface that extends it says more of some columns, such as which texts are possible; what contradicts is an error. */
export type RowOf<
	Tables extends string,
	Table extends string,
> = Tables extends `${string}CREATE TABLE ${Table} (\n${infer Definition}\n\t)${string}`
	? Columns<Lines<Definition>>
	: never;
