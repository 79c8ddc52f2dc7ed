-- Lists show more of an item than before. What was kept as JSON is written anew by the program, which knows how.
CREATE TABLE to_do (
    name TEXT NOT NULL PRIMARY KEY
);

INSERT INTO to_do (name) VALUES ('list items');
